/** Errors of Kafka: classification and readable messages. */
import { AuthenticationError, findErrorBy } from '@platformatic/kafka';
import { UnavailableError } from '../../schemas/errors.ts';
import { FatalBusError } from './wire.ts';

/** A topic that was never created, or that the broker does not know yet. */
export class MissingTopicError extends FatalBusError {}

/** Whether an error of the driver, or an error that it wraps, is one of these protocol errors. */
export const isProtocolError = (error: unknown, ...ids: readonly string[]): boolean =>
  error instanceof Error && ids.some((id) => findErrorBy(error, 'apiId', id) !== null);

/** An error and the errors it wraps, the outermost first. */
function* iterateErrors(error: unknown): Generator<Error> {
  if (!(error instanceof Error)) return;
  yield error;
  if (error instanceof AggregateError) for (const each of error.errors) yield* iterateErrors(each);
  yield* iterateErrors(error.cause);
}

/** Like `isProtocolError`, but also for causes and for errors of `kafkajs`. */
const hasErrorId = (error: unknown, id: string): boolean =>
  [...iterateErrors(error)].some((error) => isProtocolError(error, id) || ('type' in error && error.type === id));

const isUnknownMechanism = (error: unknown): boolean => hasErrorId(error, 'UNSUPPORTED_SASL_MECHANISM');

/** Whether brokers reject our credentials. A connection that breaks during authentication is not a rejection. */
export const isAuthenticationError = (error: unknown): boolean =>
  isUnknownMechanism(error) ||
  hasErrorId(error, 'SASL_AUTHENTICATION_FAILED') ||
  [...iterateErrors(error)].some(({ name }) => name === 'KafkaJSSASLAuthenticationError');

const certificateCodes = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
];

/** Returns the setting that an operator should check first, for failures that a setting can fix. */
const getAdvice = (error: unknown): string => {
  const chain = [...iterateErrors(error)];
  if (isUnknownMechanism(error)) return ' (set OIQ_KAFKA_SASL_MECHANISM to a mechanism that the brokers offer)';
  if (isAuthenticationError(error)) return ' (check OIQ_KAFKA_SASL_USERNAME and OIQ_KAFKA_SASL_PASSWORD)';
  if (chain.some(({ message }) => /alert (?:bad certificate|certificate required)/.test(message)))
    return ' (set OIQ_KAFKA_SSL_CERT_FILE and OIQ_KAFKA_SSL_KEY_FILE to the certificate that the brokers require)';
  if (chain.some((error) => certificateCodes.includes((error as NodeJS.ErrnoException).code ?? '')))
    return ' (set NODE_EXTRA_CA_CERTS to the file of a private certificate authority)';
  if (chain.some((error) => error.message.includes('requires TLS') || error instanceof AuthenticationError))
    return ' (set OIQ_KAFKA_SSL=true if the brokers require TLS)';
  return '';
};

const getInnermostMessage = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return getInnermostMessage(error.errors.at(-1));
  if (error instanceof Error && error.cause !== undefined) return getInnermostMessage(error.cause);
  return error instanceof Error ? error.message : String(error);
};

/**
 * Returns the readable reason of a failure: the innermost message of the driver's nested errors, and the setting to
 * check.
 */
export const describeFailure = (error: unknown): string => `${getInnermostMessage(error)}${getAdvice(error)}`;

/** Returns the error for a failed request: retriable, unless Kafka rejects our credentials. */
export const toFailure = (summary: string, cause: unknown): Error => {
  const message = `${summary}: ${describeFailure(cause)}`;
  return isAuthenticationError(cause) ? new Error(message, { cause }) : new UnavailableError(message, { cause });
};
