/** Responses and errors in the format of Prometheus' API */
import { z } from 'zod';
import { QueryError } from '../../../queries/errors.ts';
import { PromqlError, type PromqlErrorType } from '../../../queries/promql/errors.ts';
import { PromqlExecutionError, PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import { PermanentError, UnavailableError } from '../../../schemas/errors.ts';
import { ApiError, type ForeignError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { PrometheusParameters } from './parameters.ts';

const statuses: Readonly<Record<PromqlErrorType, number>> = {
  bad_data: 400,
  execution: 422,
  canceled: 499,
  timeout: 503,
  internal: 500,
  unavailable: 503,
  not_found: 404,
  too_many_requests: 429,
};

const classifyStatus = (status: number): PromqlErrorType => {
  if (status === 429) return 'too_many_requests';
  return status < 500 ? 'bad_data' : 'timeout';
};

const classifyError = (error: unknown): readonly [PromqlErrorType, string] => {
  if (error instanceof PromqlError) return [error.type, error.message];
  if (error instanceof PromqlSyntaxError) return ['bad_data', error.message];
  if (error instanceof PromqlExecutionError) return ['execution', error.message];
  if (error instanceof QueryError)
    return [error.code === 'RATE_LIMITED' ? 'too_many_requests' : 'bad_data', error.message];
  if (error instanceof ApiError) return [classifyStatus(error.status), error.message];
  if (error instanceof PermanentError) return ['execution', error.message];
  if (error instanceof UnavailableError)
    return [/took too long/.test(error.message) ? 'timeout' : 'unavailable', error.message];
  return ['internal', 'internal error; the log has details under the request id'];
};

const callerStatuses = new Set([401, 403, 429]);

/** Converts an error to Prometheus' format. */
export const toPrometheusError = (error: unknown): ForeignError => {
  const [errorType, message] = classifyError(error);
  const body = { status: 'error', errorType, error: message };
  // Errors of the caller also have the message and request id of this API; `error` is the text that Grafana shows.
  if (error instanceof ApiError && callerStatuses.has(error.status))
    return { status: error.status, body, cause: error };
  return { status: statuses[errorType], body };
};

const Result = z.strictObject({
  status: z.literal('success'),
  data: z.unknown(),
  warnings: z.array(z.string()).optional(),
  infos: z.array(z.string()).optional(),
});

/** Result of a handler. */
export interface PrometheusResult {
  readonly data: unknown;
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
}

/** Builds the body of a successful response, without empty lists of warnings and infos. */
export const toSuccessBody = ({ data, warnings = [], infos = [] }: PrometheusResult): z.input<typeof Result> => ({
  status: 'success',
  data,
  ...(warnings.length > 0 && { warnings: [...warnings] }),
  ...(infos.length > 0 && { infos: [...infos] }),
});

/** Returns the first `limit` items, with Prometheus' warning if there are more. */
export const limitItems = <Item>(items: readonly Item[], limit: number): PrometheusResult =>
  items.length > limit
    ? { data: items.slice(0, limit), warnings: ['results truncated due to limit'] }
    : { data: items };

type OperationHandler = Parameters<typeof defineOperation>[0]['handler'];
type OperationInput = Parameters<OperationHandler>[0];
type Ports = Parameters<OperationHandler>[1];

interface PrometheusRequest {
  readonly parameterValues: PrometheusParameters;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: OperationInput['caller'];
  readonly signal: AbortSignal;
}

interface PrometheusOperation {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: Readonly<Record<string, z.ZodType>>;
  readonly params?: z.ZodType<Record<string, string>>;
  run(request: PrometheusRequest, ports: Ports): Promise<PrometheusResult> | PrometheusResult;
}

const definePrometheusOperation = (
  method: 'GET' | 'POST',
  { path, operationId, summary, parameters, params, run }: PrometheusOperation,
) =>
  defineOperation({
    method,
    path: `/api/prom/api/v1/${path}`,
    operationId: method === 'GET' ? operationId : `${operationId}ByForm`,
    summary: method === 'GET' ? summary : `${summary}; the parameters as a form`,
    role: 'viewer',
    basic: true,
    ...(method === 'POST' && { form: true as const, auditExemption: 'read-only' }),
    query: z.looseObject(parameters),
    ...(params && { params }),
    response: Result,
    failure: toPrometheusError,
    async handler({ query, params: pathParameters, caller, signal }, ports) {
      const parameterValues = query as PrometheusParameters;
      return toSuccessBody(
        await run({ parameterValues, params: (pathParameters ?? {}) as Record<string, string>, caller, signal }, ports),
      );
    },
  });

/** Defines an operation of Prometheus' API with the method GET. */
export const defineGetOperation = (operation: PrometheusOperation) => definePrometheusOperation('GET', operation);
/** Defines an operation of Prometheus' API that also accepts POST with its parameters as a form. */
export const defineGetAndPostOperations = (operation: PrometheusOperation) => [
  definePrometheusOperation('GET', operation),
  definePrometheusOperation('POST', operation),
];
