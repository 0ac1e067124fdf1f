/** Gathers texts into stretches of about this many characters, so that neither many small nor few large ones are costly. */
export async function* stretches(
  texts: AsyncIterable<string>,
  characters: number,
): AsyncIterable<readonly [string, ...string[]]> {
  let gathered: string[] = [];
  let length = 0;
  for await (const text of texts) {
    gathered.push(text);
    length += text.length;
    if (length < characters && gathered.length < MOST_TEXTS) continue;
    yield gathered as [string, ...string[]];
    gathered = [];
    length = 0;
  }
  if (gathered.length > 0) yield gathered as [string, ...string[]];
}

const MOST_TEXTS = 500;
