/** A small SMTP server (RFC 5321): accepts messages, or responds as configured. It always refuses `bounces@`. */
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from '../waiting.ts';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** Header fields, unfolded, by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The raw message including headers. */
  readonly raw: string;
  /** The text part, decoded. */
  readonly text: string;
}

export interface SmtpServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Responses to the next RCPT commands, instead of accepting them. */
  readonly refusals: string[];
  /** Resolves with the first message that matches. */
  next(matches: (mail: Received) => boolean): Promise<Received>;
  close(): Promise<void>;
}

const headersOf = (raw: string): Map<string, string> => {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  return new Map(
    head.split('\r\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
};

const decodedBody = (part: string): string => {
  const at = part.indexOf('\r\n\r\n');
  const encoding = headersOf(part).get('content-transfer-encoding') ?? '7bit';
  const body = part.slice(at + 4);
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
};

const textOf = (raw: string): string => {
  const boundary = /boundary="([^"]+)"/.exec(headersOf(raw).get('content-type') ?? '')?.[1];
  if (boundary === undefined) return decodedBody(raw);
  const parts = raw.split(`--${boundary}`).map((part) => part.replace(/^\r\n/, ''));
  return decodedBody(parts.find((part) => /^content-type: text\/plain/im.test(part)) ?? '');
};

export const startSmtpServer = async (port = 0): Promise<SmtpServer> => {
  const received: Received[] = [];
  const refusals: string[] = [];
  const sockets = new Set<Socket>();

  /** One conversation: maps a command line to the response. */
  const conversation = (): ((line: string) => string | undefined) => {
    let from = '';
    let to: string[] = [];
    let lines: string[] | undefined;
    const acceptMessage = (): string => {
      const raw = (lines ?? []).join('\r\n');
      received.push({ from, to, headers: headersOf(raw), raw, text: textOf(raw) });
      [from, to, lines] = ['', [], undefined];
      return '250 taken';
    };
    const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';
    const commands: Readonly<Record<string, (line: string) => string>> = {
      MAIL(line) {
        from = addressIn(line);
        return '250 ok';
      },
      RCPT(line) {
        const address = addressIn(line);
        const refusal = address.startsWith('bounces@') ? '550 no such user' : refusals.shift();
        if (refusal === undefined) to.push(address);
        return refusal ?? '250 ok';
      },
      DATA() {
        lines = [];
        return '354 go on';
      },
      QUIT: () => '221 bye',
    };
    return (line) => {
      if (lines === undefined) return commands[line.slice(0, 4).toUpperCase()]?.(line) ?? '250 ok';
      if (line === '.') return acceptMessage();
      lines.push(line.replace(/^\./, ''));
      return undefined;
    };
  };

  const converse = async (socket: Socket): Promise<void> => {
    const respond = conversation();
    socket.write('220 test.example ESMTP\r\n');
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      const answer = respond(line);
      if (answer !== undefined) socket.write(`${answer}\r\n`);
      if (answer?.startsWith('221')) socket.end();
    }
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    converse(socket).catch(() => socket.destroy());
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  return {
    url: `smtp://127.0.0.1:${address.port}`,
    received,
    refusals,
    async next(matches) {
      await eventually('a message', () => received.some(matches));
      return received.find(matches) as Received;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};
