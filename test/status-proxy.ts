import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { couchFetch } from './couchdb-server.js';

/** A request as it came in. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}

/**
 * What becomes of a request: it is passed on; it is, but its answer is lost, never comes or has another status; or it is
 * not, and is answered, lost or left here.
 */
export type Fate =
  | { readonly kind: 'passed'; readonly status?: number; readonly before?: () => Promise<void> }
  | { readonly kind: 'answer lost'; readonly then?: () => Promise<void> }
  | { readonly kind: 'answered'; readonly status: number; readonly body: object }
  | { readonly kind: 'request lost' }
  | { readonly kind: 'left alone' };

/** Stands in front of an HTTP server and does to requests what a bad network or a server in trouble would. */
export class StatusProxy {
  /** Decides on each request; everything is passed on unless it is set. */
  decide: (seen: Seen) => Fate = () => ({ kind: 'passed' });
  readonly seen: Seen[] = [];

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    private readonly target: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.handle(request, response);
    });
  }

  static async start(target: string): Promise<StatusProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new StatusProxy(server, target);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Does this to the next so many requests that fit, and passes all others on. */
  next(method: string, path: RegExp, fate: Fate, times = 1): void {
    let left = times;
    this.decide = (seen) => {
      if (left === 0 || seen.method !== method || !path.test(seen.path)) return { kind: 'passed' };
      left -= 1;
      return fate;
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const seen = {
      method: request.method!,
      path: request.url!,
      body: Buffer.concat(chunks).toString(),
      headers: request.headers,
    };
    this.seen.push(seen);
    const fate = this.decide(seen);
    switch (fate.kind) {
      case 'passed': {
        await fate.before?.();
        const { status, text } = await this.pass(seen);
        response.writeHead(fate.status ?? status, { 'content-type': 'application/json' }).end(text);
        return;
      }
      case 'answer lost':
        await this.pass(seen);
        await fate.then?.();
        response.destroy();
        return;
      case 'answered':
        response.writeHead(fate.status, { 'content-type': 'application/json' }).end(JSON.stringify(fate.body));
        return;
      case 'request lost':
        response.destroy();
        return;
      case 'left alone':
        return;
    }
  }

  private async pass(seen: Seen): Promise<{ status: number; text: string }> {
    const answer = await couchFetch(this.target + seen.path, seen.method, seen.body === '' ? null : seen.body);
    return { status: answer.status, text: await answer.text() };
  }
}
