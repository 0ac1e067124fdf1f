export { PostgresStore, type PostgresStoreOptions } from './stores/postgres.js';
export type { PostgresConnection } from './stores/postgres-connections.js';
