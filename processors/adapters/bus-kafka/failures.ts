/** What goes wrong with Kafka: which error it is, and how to say it to people. */
import { AuthenticationError, findErrorBy } from '@platformatic/kafka';
import { FatalBusError } from './wire.ts';

/** A topic that was never created, or a broker that does not know its topics yet. */
export class MissingTopicError extends FatalBusError {}

/** Whether an error of the driver, or one that it wraps, is this error of the protocol. */
export const isProtocolError = (error: unknown, ...ids: readonly string[]): boolean =>
  error instanceof Error && ids.some((id) => findErrorBy(error, 'apiId', id) !== null);

/** An error and what it wraps, the outermost first. */
function* chainOf(error: unknown): Generator<Error> {
  if (!(error instanceof Error)) return;
  yield error;
  if (error instanceof AggregateError) for (const each of error.errors) yield* chainOf(each);
  yield* chainOf(error.cause);
}

/** Whether brokers do not let us in. */
export const isRefusedLogin = (error: unknown): boolean =>
  [...chainOf(error)].some(
    (each) => each instanceof AuthenticationError || each.name === 'KafkaJSSASLAuthenticationError',
  );

const certificateCodes = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
];

/** The setting that an operator looks at first, for failures that a setting mends. */
const adviceOn = (error: unknown): string => {
  const chain = [...chainOf(error)];
  if (chain.some(({ message }) => /mechanism/i.test(message) && /sasl/i.test(message)))
    return ' (OIQ_KAFKA_SASL_MECHANISM names one that the brokers offer)';
  if (isRefusedLogin(error)) return ' (look at OIQ_KAFKA_SASL_USERNAME and OIQ_KAFKA_SASL_PASSWORD)';
  if (chain.some((each) => certificateCodes.includes((each as NodeJS.ErrnoException).code ?? '')))
    return ' (NODE_EXTRA_CA_CERTS names the file of an authority of your own)';
  if (chain.some(({ message }) => message.includes('requires TLS'))) return ' (OIQ_KAFKA_SSL=true speaks it)';
  return '';
};

const innermost = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors.at(-1));
  if (error instanceof Error && error.cause !== undefined) return innermost(error.cause);
  return error instanceof Error ? error.message : String(error);
};

/** What went wrong, for people: the innermost message of the driver's nested errors, and which setting to look at. */
export const reasonOf = (error: unknown): string => `${innermost(error)}${adviceOn(error)}`;
