/** Requests for tests that run over all operations. */
import type { Operation } from '../../api/kernel/operation.ts';
import type { Role } from '../../schemas/resources/user.ts';
import type { Answer, Harness } from '../end-to-end/api-harness.ts';

/** A request to an operation. */
export interface OperationRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A token; by default the organization's owner, and no session if empty. */
  readonly token?: string;
  /** Organization of the token, if it differs from that of the world. */
  readonly tenant?: string;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

/** An organization as the examples use it. */
export interface World {
  readonly harness: Harness;
  readonly tenant: string;
  /** The owner's token. */
  readonly token: string;
  /** Creates and signs in a new member of the organization. */
  person(role: Role): Promise<Person>;
  /** A request that succeeds; created anew for each call. */
  example(operation: Operation): Promise<OperationRequest>;
  call(operation: Operation, request: OperationRequest): Promise<Answer>;
  /** Calls an operation by its ID, by default with its example; throws unless the response is 200. */
  make(operationId: string, request?: OperationRequest): Promise<Answer['body']>;
}

export type Example = OperationRequest | ((world: World) => OperationRequest | Promise<OperationRequest>);
