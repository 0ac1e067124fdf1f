/** One thing that is checked; `run` rejects where it does not hold. */
export interface ConformanceCheck {
  readonly name: string;
  /** Why it does not apply, where it does not. */
  readonly skipped: string | undefined;
  /** Checks it, with a subject of its own. */
  readonly run: () => Promise<void>;
}

/** Rejects where it takes longer than anybody should wait. */
export async function within<Value>(promise: Promise<Value>, patienceMs: number, claim: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`expected within ${patienceMs} ms: ${claim}`));
    }, patienceMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
