export { SqliteStore, type SqliteStoreOptions } from './stores/sqlite.js';
