import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of a message: it is lost on its way, or its answer is, or nothing comes any more on its connection. */
export type Cut = 'request' | 'answer' | 'silence';

/** Stands between a client and a server at a port of this machine, and loses what it is told to. */
export class CuttingProxy {
  /** How many connections were made to it. */
  connections = 0;
  private readonly open = new Set<Socket>();
  private cut: { readonly how: Cut; readonly text: string; readonly then: () => Promise<void> } | undefined;
  private cuts = 0;

  private constructor(
    private readonly server = createServer(),
    private readonly target: number,
  ) {
    server.on('connection', (client) => {
      this.join(client);
    });
  }

  static async start(target: number): Promise<CuttingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CuttingProxy(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** How many messages it has lost. */
  get lost(): number {
    return this.cuts;
  }

  /** How many connections are there now. */
  get present(): number {
    return this.open.size;
  }

  /** Loses the next message that has the text in it, and does something before whoever sent it learns of that. */
  loseNext(how: Cut, text: string, then: () => Promise<void> = () => Promise.resolve()): void {
    this.cut = { how, text, then };
  }

  async stop(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    this.connections += 1;
    this.open.add(client);
    const server = connect(this.target, '127.0.0.1');
    let cut: NonNullable<typeof this.cut> | undefined;
    let looksFor: typeof this.cut;
    let sent = '';
    client.on('data', (data) => {
      // What was sent before it was to be lost is not meant.
      if (this.cut !== looksFor) [looksFor, sent] = [this.cut, ''];
      if (looksFor !== undefined) sent += data.toString('latin1');
      if (looksFor !== undefined && sent.includes(looksFor.text)) {
        cut = looksFor;
        this.cut = undefined;
        this.cuts += 1;
      }
      if (sent.length > 10_000) sent = sent.slice(-1_000);
      if (cut?.how === 'request') void cut.then().then(() => client.destroy());
      else server.write(data);
    });
    server.on('data', (data) => {
      if (cut === undefined) client.write(data);
      else if (cut.how === 'answer') void cut.then().then(() => client.destroy());
    });
    client
      .on('error', () => undefined)
      .on('close', () => {
        this.open.delete(client);
        server.destroy();
      });
    server
      .on('error', () => undefined)
      .on('close', () => {
        client.destroy();
      });
  }
}
