export { WorkerThreads, type ThreadTask, type WorkerThreadsOptions } from './executors/worker-threads.js';
