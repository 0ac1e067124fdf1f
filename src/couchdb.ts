export { CouchStore, type CouchStoreOptions } from './stores/couchdb/couch-store.js';
