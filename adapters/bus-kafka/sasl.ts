/** Authenticates a connection to a broker with SASL. */
import { Reader, saslAuthenticateV2, saslHandshakeV1, saslScramSha, type Writer } from '@platformatic/kafka';
import type { DirectConnection } from './direct-connection.ts';

/** Credentials, with the mechanism's name in the protocol. */
export interface Credentials {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly username: string;
  readonly password: string;
}

interface Api<Answer> {
  readonly api: { readonly key: number; readonly version: number };
  parseResponse(correlation: number, key: number, version: number, reader: Reader): Answer;
}

const sendRequest = <Answer>(
  connection: DirectConnection,
  { api: { key, version }, parseResponse }: Api<Answer>,
  payload: Writer,
  hasTaggedFields: boolean,
): Promise<Answer> =>
  connection.request({
    key,
    version,
    hasTaggedFields,
    payload,
    *parser(bytes) {
      const reader = Reader.from(yield Buffer.alloc(bytes));
      if (hasTaggedFields) reader.readTaggedFields();
      return parseResponse(0, key, version, reader);
    },
  });

/** Resolves with the milliseconds after which the broker requires a new authentication; 0 means never. */
export const authenticate = async (
  connection: DirectConnection,
  { mechanism, username, password }: Credentials,
): Promise<number> => {
  const sendToken = (bytes: Buffer) =>
    sendRequest(connection, saslAuthenticateV2, saslAuthenticateV2.createRequest(bytes), true);
  await sendRequest(connection, saslHandshakeV1, saslHandshakeV1.createRequest(mechanism), false);
  const { sessionLifetimeMs } =
    mechanism === 'PLAIN'
      ? await sendToken(Buffer.from(['', username, password].join('\0')))
      : await authenticateScram(sendToken, mechanism === 'SCRAM-SHA-256' ? 'SHA-256' : 'SHA-512', username, password);
  return Number(sessionLifetimeMs);
};

type SendToken = (bytes: Buffer) => Promise<saslAuthenticateV2.SaslAuthenticateResponse>;

/** The driver's SCRAM exchange over our own connection. */
const authenticateScram = (
  sendToken: SendToken,
  algorithm: 'SHA-256' | 'SHA-512',
  username: string,
  password: string,
) => {
  const send: typeof saslAuthenticateV2.api = Object.assign(
    (
      _connection: unknown,
      bytes: Buffer,
      callback?: (error: Error | null, response?: Awaited<ReturnType<SendToken>>) => void,
    ) => {
      sendToken(bytes).then(
        (answer) => callback?.(null, answer),
        (error: Error) => callback?.(error),
      );
    },
    { ...saslAuthenticateV2.api, async: (_connection: unknown, bytes: Buffer) => sendToken(bytes) },
  );
  return saslScramSha.authenticate(send, undefined as never, algorithm, username, password);
};
