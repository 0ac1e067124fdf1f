/** What JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of what JSON can say; a field that is `undefined` counts as absent. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** What a task carries for its owner, such as a request id or a tenant: nothing is decided by it. */
export type Metadata = JsonObject;
