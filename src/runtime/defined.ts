/** What the types need to know of a definition. */
export interface Defined<Input, Result> {
  /** @internal */
  readonly types: (input: Input, dependencies: never) => Result;
}
