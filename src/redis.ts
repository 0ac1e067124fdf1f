export { RedisStore, type RedisStoreOptions, type RedisTarget } from './stores/redis/redis-store.js';
