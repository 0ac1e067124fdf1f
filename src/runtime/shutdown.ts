import { constants } from 'node:os';
import { refuseConfig } from '../model/index.js';

/** Nobody can listen to these. */
const DEAF: readonly string[] = ['SIGKILL', 'SIGSTOP'];

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
  if (!Array.isArray(signals)) return refuseConfig('shutdownOn', signals, "a list of signals, such as ['SIGTERM']");
  return signals.map((name: unknown, at) => {
    if (typeof name === 'string' && Object.hasOwn(constants.signals, name) && !DEAF.includes(name)) {
      return name as NodeJS.Signals;
    }
    return refuseConfig(`shutdownOn[${at}]`, name, "a signal that can be listened to, such as 'SIGTERM'");
  });
}
