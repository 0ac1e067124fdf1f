import { type Row } from './row.js';

/** Loaded by need, for the reason given in ours.ts; the key is the first word of a row's id. */
const files: Readonly<Record<string, () => Promise<{ rows: readonly Row[] }>>> = {
  P1: () => import('./rows/p1.js'),
  P2: () => import('./rows/p2.js'),
  P3: () => import('./rows/p3.js'),
  P4: () => import('./rows/p4.js'),
  P5: () => import('./rows/p5.js'),
  P6: () => import('./rows/p6.js'),
  P7: () => import('./rows/p7.js'),
  P8: () => import('./rows/p8.js'),
  P9: () => import('./rows/p9.js'),
  P10: () => import('./rows/p10.js'),
  P11: () => import('./rows/p11.js'),
  P12: () => import('./rows/p12.js'),
  P13: () => import('./rows/p13.js'),
  P14: () => import('./rows/p14.js'),
  P15: () => import('./rows/p15.js'),
  P16: () => import('./rows/p16.js'),
  CLAIMS: () => import('./rows/claims.js'),
  CORE: () => import('./rows/core.js'),
  STORES: () => import('./rows/stores.js'),
  POLICIES: () => import('./rows/policies.js'),
};

export async function loadRows(): Promise<readonly Row[]> {
  const all = await Promise.all(Object.values(files).map((load) => load()));
  return all.flatMap(({ rows }) => rows);
}

/** The rows of that id, or of the file of that name: "P8" is both "P8 chain" and "P8 fan". */
export async function loadRowsNamed(id: string): Promise<readonly Row[]> {
  const { rows } = (await files[id.split(' ')[0] ?? '']?.()) ?? { rows: [] };
  const found = rows.filter((row) => row.id === id);
  if (rows.length === 0) throw new Error(`There is no row "${id}". There are: ${Object.keys(files).join(', ')}.`);
  return found.length > 0 ? found : rows;
}
