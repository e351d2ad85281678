/** An OpAMP client that can also violate the specification, with messages by the published definition. */
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { WebSocket } from 'ws';

const root = new protobuf.Root();
root.resolvePath = (_origin, target) =>
  target.startsWith('/') ? target : join(import.meta.dirname, '../cases/proto', target);
root.loadSync('opamp/v1/opamp.proto').resolveAll();
export const agentToServerType = root.lookupType('opamp.proto.v1.AgentToServer');
export const serverToAgentType = root.lookupType('opamp.proto.v1.ServerToAgent');

export type Fields = Readonly<Record<string, unknown>>;

export const capabilities = { status: 1, effectiveConfig: 4, health: 0x800 } as const;
export const reportsAll = capabilities.status | capabilities.effectiveConfig | capabilities.health;

export const encode = (fields: Fields): Buffer =>
  Buffer.from(agentToServerType.encode(agentToServerType.fromObject(fields)).finish());

export interface Reply {
  readonly instanceUid?: string;
  readonly flags?: string;
  readonly capabilities?: string;
  readonly errorResponse?: {
    readonly type?: string;
    readonly errorMessage: string;
    readonly retryInfo?: { readonly retryAfterNanoseconds: string };
  };
  readonly agentIdentification?: { readonly newInstanceUid: string };
}

export const decode = (bytes: Uint8Array): Reply =>
  serverToAgentType.toObject(serverToAgentType.decode(bytes), { bytes: String, longs: String, enums: String }) as Reply;

export const uidOf = (number: number): Buffer => {
  const uid = Buffer.from('01890000000070008000000000000000', 'hex');
  uid.writeUInt32BE(number, 12);
  return uid;
};

const keyValues = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));

export const describe = (
  identifying: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>> = {},
): Fields => ({ identifyingAttributes: keyValues(identifying), nonIdentifyingAttributes: keyValues(others) });

/** A complete status of a collector. */
export const fullState = (fields: Fields = {}): Fields => ({
  instanceUid: uidOf(1),
  sequenceNum: 1,
  capabilities: reportsAll,
  agentDescription: describe(
    { 'service.name': 'otelcol-contrib', 'service.version': '0.140.0' },
    { 'host.name': 'node-1', 'os.type': 'linux' },
  ),
  health: { healthy: true, status: 'StatusOK', startTimeUnixNano: 1_700_000_000_000_000_000 },
  effectiveConfig: {
    configMap: { configMap: { '': { body: Buffer.from('receivers:\n  otlp:\n'), contentType: 'text/yaml' } } },
  },
  ...fields,
});

export interface OpampSocket {
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  /** Sends raw bytes. */
  sendRaw(bytes: Buffer | string): void;
  /** Sends a message, and resolves with the reply. */
  send(fields: Fields): Promise<Reply>;
  next(): Promise<Reply>;
}

/** Opens a WebSocket. Rejects with the status if the server refuses it. */
export const connect = (url: string, headers: Record<string, string>, autoPong = true): Promise<OpampSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers, autoPong, perMessageDeflate: true });
    const replies: Reply[] = [];
    const waiting: ((reply: Reply) => void)[] = [];
    const closed = new Promise<number>((done) => socket.on('close', (code) => done(code)));
    socket.on('message', (data: Buffer) => {
      if (data[0] !== 0) throw new Error('the header of a message is not 0');
      const reply = decode(data.subarray(1));
      const resolveNext = waiting.shift();
      if (resolveNext === undefined) replies.push(reply);
      else resolveNext(reply);
    });
    socket.on('unexpected-response', (_, response) => {
      reject(
        Object.assign(new Error(`status ${response.statusCode}`), {
          status: response.statusCode,
          headers: response.headers,
        }),
      );
      socket.terminate();
    });
    socket.on('error', (error) => reject(error));
    const next = (): Promise<Reply> => {
      const reply = replies.shift();
      return reply === undefined ? new Promise((done) => waiting.push(done)) : Promise.resolve(reply);
    };
    socket.on('open', () =>
      resolve({
        socket,
        closed,
        next,
        sendRaw: (bytes) => socket.send(bytes),
        send(fields) {
          socket.send(Buffer.concat([Buffer.from([0]), encode(fields)]));
          return next();
        },
      }),
    );
  });

/** Sends a message over HTTP. */
export const post = async (
  url: string,
  secret: string,
  body: Fields | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
) => {
  const bytes = body instanceof Uint8Array ? body : encode(body);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-license-key': secret, 'content-type': 'application/x-protobuf', ...headers },
    body: bytes as Uint8Array<ArrayBuffer>,
  });
  const content = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, content, reply: decode(content) };
};
