import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What becomes of what the server says next. */
export type Cut = 'before the server hears it' | 'before the answer comes back';

/** Stands between a client and its server, and cuts the connection at a chosen moment. */
export class CuttingProxy {
  private readonly sockets = new Set<Socket>();
  private planned: { readonly word: string; readonly cut: Cut } | undefined = undefined;
  /** How often it has cut. */
  cuts = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async before(url: string): Promise<CuttingProxy> {
    const target = new URL(url);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const own = new URL(url);
    own.host = `127.0.0.1:${port}`;
    const proxy = new CuttingProxy(server, own.href);
    server.on('connection', (client) => {
      proxy.relay(client, connect(Number(target.port || 5432), target.hostname));
    });
    return proxy;
  }

  /** Cuts once, at the first message from a client that has this word in it. */
  cutAt(word: string, cut: Cut): void {
    this.planned = { word, cut };
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private relay(client: Socket, server: Socket): void {
    let isCut = false;
    const cut = (): void => {
      isCut = true;
      this.cuts += 1;
      client.destroy();
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        // What is cut off before its answer is done all the same: the server gets to its end.
        if (socket === server || !isCut) {
          client.destroy();
          server.end();
        }
      });
    }
    let swallows = false;
    client.on('data', (chunk) => {
      const { planned } = this;
      if (planned !== undefined && chunk.includes(planned.word)) {
        this.planned = undefined;
        if (planned.cut === 'before the server hears it') {
          cut();
          server.destroy();
          return;
        }
        swallows = true;
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!swallows) {
        client.write(chunk);
        return;
      }
      // The answer is there, so what was asked has happened.
      if (!isCut) cut();
      server.end();
    });
  }
}
