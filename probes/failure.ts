import { AddressForbiddenError } from '../runtime/egress-policy.ts';
import { TemplateValueError } from '../subjects/synthetics/templates.ts';
import { PaceError } from './pace.ts';
import { StepFailure } from './runner.ts';

const messageByCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'is not a known name',
  EAI_AGAIN: 'cannot be resolved: the DNS server does not answer',
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

/** When several addresses were tried one after the other, their failures arrive as one error. */
const unwrapError = (error: Error): Error =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;

/** Why a step has no answer, as readable text. */
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
  const detail = messageByCode[code] ?? messageByCode[error.message] ?? `${phase} failed: ${error.message}`;
  return new StepFailure(`${host} ${detail}`, { cause: error });
};
