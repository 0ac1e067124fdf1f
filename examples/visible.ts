/**
 * Shows control characters instead of sending them to the terminal. Task names come from users: a line break in one
 * could forge a line of output, an escape sequence could move the cursor, a direction mark could reverse the text.
 */
export function visible(line: string): string {
  return line.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\t' ? character : `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}
