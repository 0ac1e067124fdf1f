/** What a console shows of an object: its own fields would lead to the whole scheduler and everything in it. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** As much of the console's options as is asked here. */
interface ShowOptions {
  stylize?(text: string, style: 'special'): string;
}

/**
 * Lets `console.log` and `util.inspect` show the objects of a class by a few values that are read without changing
 * anything, under a name that survives bundlers. On the prototype, so that no object pays for it.
 */
export function showAs<Shown extends object>(
  kind: { readonly prototype: Shown },
  name: string,
  valuesOf: (shown: Shown) => Readonly<Record<string, unknown>>,
): void {
  Object.defineProperty(kind.prototype, INSPECT, {
    configurable: true,
    value(this: Shown, depth: number, options: ShowOptions, inspect: (value: unknown, options: object) => string) {
      if (depth < 0) return options.stylize?.(`[${name}]`, 'special') ?? `[${name}]`;
      return `${name} ${inspect(valuesOf(this), { ...options, depth })}`;
    },
  });
}
