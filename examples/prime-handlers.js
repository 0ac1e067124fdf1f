// What runs in threads: every export is a handler, by its name.

/** How many primes there are below a number, found the slow way. */
export function primes(below, task) {
  let found = 0;
  for (let candidate = 2; candidate < below; candidate += 1) {
    if (candidate % 10_000 === 0) task.progress(candidate / below);
    if (isPrime(candidate)) found += 1;
  }
  return found;
}

function isPrime(candidate) {
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) return false;
  return true;
}

/** Does not end unless its thread is ended. */
export function spin() {
  for (;;);
}
