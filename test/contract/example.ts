/** What tests that run over all operations ask of each. */
import type { Operation } from '../../api/kernel/operation.ts';
import type { Role } from '../../schemas/resources/user.ts';
import type { Answer, Harness } from '../end-to-end/api-harness.ts';

/** A request to an operation. */
export interface OperationRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A token; the organization's owner without one, nobody when empty. */
  readonly token?: string;
  /** Organization of the token, where it is not the world's. */
  readonly tenant?: string;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

/** An organization as examples see it. */
export interface World {
  readonly harness: Harness;
  readonly tenant: string;
  /** The owner's token. */
  readonly token: string;
  /** Somebody new in the organization, signed in. */
  person(role: Role): Promise<Person>;
  /** A request that the operation answers; made anew each time. */
  example(operation: Operation): Promise<OperationRequest>;
  call(operation: Operation, request: OperationRequest): Promise<Answer>;
  /** Asks an operation by its id, with its example where nothing is given; throws unless it answers 200. */
  make(operationId: string, request?: OperationRequest): Promise<Answer['body']>;
}

export type Example = OperationRequest | ((world: World) => OperationRequest | Promise<OperationRequest>);
