import { checkStrategy, type Offer, type PlaceFilter, type StrategyChoice, type WorkerSpec } from '../core/index.js';
import {
  fieldsOf,
  isCapabilityValue,
  parseName,
  parsePositiveDuration,
  pathTo,
  refuseConfig,
  refuseUnknown,
  type Duration,
} from '../model/index.js';

/** What a pulling worker is like. */
export interface WorkerOptions {
  /** Unique among the workers of a scheduler; generated unless given. */
  readonly id?: string | undefined;
  /** What it offers to tasks that ask for capabilities: a value, or several of which any will do. */
  readonly capabilities?: Readonly<Record<string, Offer>> | undefined;
  /** In which order it claims; the scheduler's own unless given. */
  readonly strategy?: StrategyChoice | 'weighted_random' | undefined;
  /** How long a claim may go without being extended before it is lost; 60 seconds unless given, `Infinity` for ever. */
  readonly lease?: Duration | undefined;
  /** How many claims it holds at a time; as many as it asks for unless given. */
  readonly slots?: number | undefined;
  /** Executions after the first, for tasks that have no retry policy of their own; 3 unless given. */
  readonly retries?: number | undefined;
  /** Says what it takes: asked once for each combination of channel, type, needs and capabilities. */
  readonly filter?: PlaceFilter | undefined;
}

const KNOWN = ['id', 'capabilities', 'strategy', 'lease', 'slots', 'retries', 'filter'];
const LEASE_MS = 60_000;
const RETRIES = 3;

/** Checks what a user said about a worker; `nextId` gives the id of one that was given none. */
export function parseWorkerOptions(options: WorkerOptions | undefined, nextId: () => string): WorkerSpec {
  const given = new Map(options === undefined ? [] : fieldsOf(options, 'options', refuseConfig));
  for (const [key, value] of given) if (!KNOWN.includes(key)) refuseUnknown('', key, value, KNOWN, refuseConfig);
  return {
    id: given.has('id') ? parseName(given.get('id'), 'id', refuseConfig) : nextId(),
    slots: parseSlots(given.get('slots')),
    capabilities: parseOffers(given.get('capabilities')),
    strategy: given.has('strategy') ? checkStrategy(given.get('strategy'), 'strategy') : undefined,
    filter: parseFilter(given.get('filter')),
    leaseMs: given.has('lease') ? parseLease(given.get('lease')) : LEASE_MS,
    retries: parseRetries(given.get('retries')),
  };
}

function parseSlots(slots: unknown): number {
  if (slots === undefined || slots === Infinity) return Infinity;
  if (typeof slots === 'number' && Number.isSafeInteger(slots) && slots > 0) return slots;
  return refuseConfig('slots', slots, 'a whole number of at least 1, or Infinity');
}

function parseLease(lease: unknown): number {
  return lease === Infinity ? Infinity : parsePositiveDuration(lease, 'lease', refuseConfig);
}

function parseRetries(retries: unknown): number {
  if (retries === undefined) return RETRIES;
  if (typeof retries === 'number' && Number.isSafeInteger(retries) && retries >= 0) return retries;
  return refuseConfig('retries', retries, 'a whole number of at least 0');
}

function parseFilter(filter: unknown): PlaceFilter | undefined {
  if (filter === undefined || typeof filter === 'function') return filter as PlaceFilter | undefined;
  return refuseConfig('filter', filter, 'a function of { channel, type, needs, capabilities }');
}

function parseOffers(capabilities: unknown): ReadonlyMap<string, Offer> {
  const offers = new Map<string, Offer>();
  if (capabilities === undefined) return offers;
  for (const [name, offer] of fieldsOf(capabilities, 'capabilities', refuseConfig)) {
    const path = pathTo('capabilities', name);
    offers.set(parseName(name, path, refuseConfig), parseOffer(offer, path));
  }
  return offers;
}

function parseOffer(offer: unknown, path: string): Offer {
  if (isCapabilityValue(offer)) return offer;
  if (Array.isArray(offer) && offer.every(isCapabilityValue)) return Object.freeze([...offer]);
  return refuseConfig(path, offer, 'a string, a finite number, true or false, or a list of these');
}

/** The slots of this process, as a worker that takes whatever comes and cannot be lost by itself. */
export function localWorker(slots: number): WorkerSpec {
  const anything = { capabilities: new Map(), strategy: undefined, filter: undefined };
  return { id: 'local', slots, ...anything, leaseMs: Infinity, retries: 0 };
}
