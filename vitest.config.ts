import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'threads',
    // Left to itself, a machine of two cores would use one of them.
    maxWorkers: '100%',
    // Modules hold no state between tests, so loading them once per thread is enough.
    isolate: false,
    testTimeout: 60_000,
    // What is made ready for a whole file, such as a server or everything built, may take as long.
    hookTimeout: 60_000,
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: '.ci/tsconfig.type-tests.json' },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: {
        branches: 90,
        'src/model/**': { branches: 95 },
        'src/ready/**': { branches: 95 },
        'src/core/**': { branches: 95 },
      },
    },
  },
});
