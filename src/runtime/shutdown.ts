import { refuseConfig } from '../model/index.js';

/** Closes the scheduler when the process gets one of these signals; returns how to stop listening. */
export function closeOnSignals(signals: unknown, close: () => Promise<void>): () => void {
  const names = parseSignals(signals);
  const stopListening = (): void => {
    for (const name of names) process.off(name, closeThenGo);
  };
  const closeThenGo = (signal: NodeJS.Signals): void => {
    void close().then(() => {
      // Nobody else wants to handle it: the signal does what it would have done without us.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  };
  for (const name of names) process.on(name, closeThenGo);
  return stopListening;
}

function parseSignals(signals: unknown): NodeJS.Signals[] {
  if (signals === undefined) return [];
  const isList =
    Array.isArray(signals) && signals.every((name) => typeof name === 'string' && /^SIG[A-Z0-9]+$/.test(name));
  return isList
    ? (signals as NodeJS.Signals[])
    : refuseConfig('shutdownOn', signals, "a list of signals, such as ['SIGTERM']");
}
