const SHOWN_CHARACTERS = 80;

// Bidirectional controls are escaped too: they could make a message read as something else.
const SAFE = /^[\w .:/#-]*$/;
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}"\\]/gu;

/**
 * Says what a value is, for an error message: short, on one line, and without ever throwing.
 *
 * @example show('a\nb') is `"a\u000ab"`, show(NaN) is `NaN`, show(new Map()) is `a Map`.
 */
export function show(value: unknown): string {
  try {
    return describe(value);
  } catch {
    // A revoked proxy or a throwing getter: whatever was asked of it threw.
    return 'a value that cannot be read';
  }
}

/** The first `length` UTF-16 units of a text, or one fewer where the cut would split a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, splitsPair ? length - 1 : length)}…`;
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${cut(String(value), SHOWN_CHARACTERS)}n`;
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'symbol':
      return `a symbol ${quote(value.description ?? '')}`;
    case 'function':
      return value.name === '' ? 'a function' : `a function ${quote(value.name)}`;
    case 'object':
      return value === null ? 'null' : describeObject(value);
  }
}

function describeObject(value: object): string {
  if (Array.isArray(value)) return `an array of length ${value.length}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : `a Date ${value.toISOString()}`;
  if (value instanceof Error) return `an error ${describe(value.message)}`;
  const name: unknown = (value as { constructor?: { name?: unknown } | null }).constructor?.name;
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `a ${escape(cut(name, 40))}` : 'an object';
}

function quote(text: string): string {
  const quoted = `"${escape(cut(text, SHOWN_CHARACTERS))}"`;
  return text.length > SHOWN_CHARACTERS ? `${quoted} (${text.length} characters)` : quoted;
}

function escape(text: string): string {
  // Ids and names mostly are, and to see that takes a third of what a search for every unsafe character does.
  if (SAFE.test(text)) return text;
  return text.replace(UNSAFE, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
