import { AddressForbiddenError } from '../runtime/egress-policy.ts';
import { TemplateValueError } from '../subjects/synthetics/templates.ts';
import { PaceError } from './pace.ts';
import { ContentCodingError } from './response-content.ts';
import { StepFailure } from './runner.ts';

const messageByCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'is not a known name',
  EAI_AGAIN: 'cannot be resolved: the DNS server does not respond',
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'reset the connection',
  EPIPE: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'did not answer in time',
  CERT_HAS_EXPIRED: 'has a certificate that expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an untrusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an untrusted authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an untrusted authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
};

/** Reasons of OpenSSL, as they end its messages, in words of people */
const tlsReasons: Readonly<Record<string, string>> = {
  'wrong version number': 'does not speak TLS, or only versions before TLS 1.2',
  'packet length too long': 'does not speak TLS',
  'http request': 'does not speak TLS',
  'unsupported protocol': 'speaks only versions of TLS before 1.2',
  'tlsv1 alert protocol version': 'speaks only other versions of TLS',
  'certificate required': 'requires a client certificate',
  'handshake failure': 'refused the TLS handshake: no common cipher, or a client certificate is required',
  'bad certificate': 'does not accept the client certificate',
  'unknown ca': 'does not trust the authority of the client certificate',
  'certificate unknown': 'does not accept the client certificate',
  'unrecognized name': 'does not know this name',
};

/** `number:error:number:library:function:reason:file:line:` (OpenSSL's ERR_print_errors) */
const opensslMessage = /:error:[0-9A-F]{1,16}:[^:]{0,100}:[^:]{0,100}:([^:]{1,200}):/;

/** Returns the reason of an error of OpenSSL without numbers and files of its source. */
const tlsMessage = ({ message }: Error): string | undefined => {
  const reason = opensslMessage.exec(message)?.[1]?.toLowerCase();
  if (reason === undefined) return undefined;
  const plain = reason.replace(/^(?:ssl\/tls|sslv3|tlsv1|tlsv13) alert /, '');
  return tlsReasons[reason] ?? tlsReasons[plain] ?? `refused TLS: ${plain}`;
};

/** When several addresses were tried one after the other, their failures arrive as one error. */
const unwrapError = (error: Error): Error =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;

/** Returns why a step has no response, as readable text. */
export const toStepFailure = (
  thrown: unknown,
  { host, phase, signal }: { readonly host: string; readonly phase: string; readonly signal: AbortSignal },
): StepFailure => {
  if (thrown instanceof StepFailure) return thrown;
  const error = unwrapError(thrown as Error);
  if (error instanceof AddressForbiddenError)
    return new StepFailure(error.message, { outcome: 'unknown', cause: error });
  if (error instanceof PaceError) return new StepFailure(error.message, { outcome: 'unknown', cause: error });
  if (error instanceof TemplateValueError) return new StepFailure(error.message, { cause: error });
  if (signal.aborted) return new StepFailure(`${host} took too long (${phase})`, { cause: error });
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error instanceof ContentCodingError) return new StepFailure(`${host} ${error.message}`, { cause: error });
  if (phase === 'receive' && code === 'ECONNRESET')
    return new StepFailure(`${host} closed the connection before the end of its answer`, { cause: error });
  const detail =
    messageByCode[code] ?? messageByCode[error.message] ?? tlsMessage(error) ?? `${phase} failed: ${error.message}`;
  return new StepFailure(`${host} ${detail}`, { cause: error });
};
