/**
 * Lets methods also be called without their object, as in `({ progress }) => progress(0.5)`: each is bound when it is asked
 * for. On the prototype, so that no object pays for what nobody takes off it.
 */
export function allowUnbound<Type extends object>(
  kind: { readonly prototype: Type },
  names: readonly (keyof Type & string)[],
): void {
  for (const name of names) {
    const method = kind.prototype[name] as (...given: unknown[]) => unknown;
    Object.defineProperty(kind.prototype, name, {
      configurable: true,
      get(this: Type) {
        return method.bind(this);
      },
    });
  }
}
