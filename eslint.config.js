import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['dist/', '.build/', 'coverage/', 'docs/api/']),
  {
    files: ['**/*.{js,mjs,cjs}'],
    rules: { eqeqeq: 'error', 'no-unused-vars': 'error', 'prefer-const': 'error', 'no-var': 'error' },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // A closed union is only closed if every switch over it is exhaustive.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Numbers in messages are wanted: "capacity 3" needs no String(3).
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-definitions': 'off',
      // With checked indexing, a read at a known place needs an assertion. `as number` names what is there; `!` does not.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // Hot paths walk parallel number arrays by index.
      '@typescript-eslint/prefer-for-of': 'off',
      eqeqeq: 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use a closed union of string literals.' },
      ],
    },
  },
  {
    // What is public is chosen name by name.
    files: ['src/*.ts', 'src/testing/index.ts'],
    rules: {
      'no-restricted-syntax': ['error', { selector: 'ExportAllDeclaration', message: 'Re-export by name.' }],
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // A test that asserts a value is there by using it fails loudly enough.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // A handler that does nothing is what many of them need.
      '@typescript-eslint/no-empty-function': 'off',
    },
  },
);
