// A server that speaks CouchDB's protocol and keeps everything in memory. It prints its port, and ends with its parent.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import express from 'express';
import expressPouchDB from 'express-pouchdb';
import memory from 'pouchdb-adapter-memory';
import PouchDB from 'pouchdb-core';
import mapreduce from 'pouchdb-mapreduce';

const folder = mkdtempSync(join(tmpdir(), 'precedence-couchdb-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.chdir(folder);

PouchDB.plugin(memory).plugin(mapreduce);
const Database = PouchDB.defaults({ adapter: 'memory' });
const app = express();
app.use(
  '/',
  expressPouchDB(Database, { mode: 'minimumForPouchDB', inMemoryConfig: true, logPath: join(folder, 'log.txt') }),
);
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
