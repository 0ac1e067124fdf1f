// Who may import whom. The table is the architecture: a folder that is not in it may not exist,
// and what is not listed in a row may not be imported from there, not even as a type.
const table = {
  model: { folders: [], packages: [] },
  ready: { folders: ['model'], packages: ['heap-js'] },
  core: { folders: ['model', 'ready'], packages: ['croner'] },
  ports: { folders: ['model'] },
  runtime: { folders: ['model', 'core', 'ports'] },
  executors: { folders: ['model', 'ports'] },
  stores: { folders: ['model', 'ports'] },
  observe: { folders: ['model', 'ports'] },
  testing: { folders: ['model', 'ready', 'core', 'ports', 'runtime', 'executors', 'stores', 'observe'] },
  cli: { folders: ['observe'], files: ['index.ts', 'testing/simulator'] },
  dashboard: { folders: ['observe'], files: ['index.ts', 'testing/simulator'] },
};

// One third-party package, one file that touches it: replacing it is then a change in one place.
const singleFilePackages = [
  'heap-js',
  'croner',
  '@dagrejs/graphlib',
  'eventemitter3',
  'p-limit',
  'piscina',
  'better-sqlite3',
  'pg',
  'ioredis',
];

const insidePackage = (name) => `^node_modules/${name}/`;

const folderRules = Object.entries(table).map(([folder, { folders, files = [] }]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import only: ${[...folders, ...files].join(', ') || 'nothing'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: {
    path: '^src/',
    pathNot: [folder, ...folders].map((name) => `^src/${name}/`).concat(files.map((file) => `^src/${file}`)),
  },
}));

// A row with `packages` is pure: nothing from Node either, and no other package.
const pureRules = Object.entries(table)
  .filter(([, row]) => row.packages !== undefined)
  .map(([folder, { packages }]) => ({
    name: `${folder}-is-pure`,
    comment: `src/${folder} may import from outside of src only: ${packages.join(', ') || 'nothing'}.`,
    severity: 'error',
    from: { path: `^src/${folder}/` },
    to: { pathNot: ['^src/', ...packages.map(insidePackage)] },
  }));

const packageRules = singleFilePackages.map((name) => ({
  name: `one-file-imports-${name.replace(/\W+/g, '-').replace(/^-/, '')}`,
  comment: `${name} is imported by more than one file in src.`,
  severity: 'error',
  module: { path: insidePackage(name), numberOfDependentsMoreThan: 1 },
  from: { path: '^src/' },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...folderRules,
    ...pureRules,
    ...packageRules,
    {
      name: 'no-unlisted-folder',
      comment: 'A folder in src needs a row in the table of .dependency-cruiser.cjs.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: Object.keys(table).map((folder) => `^src/${folder}/`) },
      to: {},
    },
    {
      name: 'graphlib-only-at-the-edge',
      comment: 'graphlib recurses and keys plain objects by id: it serves graph export only.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/graph\\.ts$' },
      to: { path: insidePackage('@dagrejs/graphlib') },
    },
    {
      name: 'sources-stand-alone',
      comment: 'What is published imports neither tests, examples and benches, nor development packages.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|examples|bench)/' },
    },
    {
      name: 'no-development-package',
      comment: 'A package that src imports belongs to dependencies or to optional peers.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm-peer'] },
    },
    {
      name: 'no-circular',
      comment: 'A cycle of imports means that two files are one.',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { circular: true },
    },
    {
      name: 'no-circular-tests',
      comment: 'Tests may share a type both ways, since types are gone when they run; code may not.',
      severity: 'error',
      from: { path: '^test/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-unresolvable',
      comment: 'The imported file or package does not exist.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // A package of its own, with dependencies of its own.
    exclude: { path: '^test/couchdb-server/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
};
