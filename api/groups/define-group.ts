import { z } from 'zod';
import type { CollectionDefinition } from '../../schemas/ports/documents.ts';
import type { Access } from '../callers/rights.ts';
import { getRequiredScope } from '../callers/scopes.ts';
import { ApiError, type UnknownPathErrors } from '../errors.ts';
import { type DeclaredOperation, defineOperation, type Method, type Operation } from '../kernel/operation.ts';
import type { RegisteredResource } from '../resources/resource.ts';

/** A planned operation: it is documented, and answers 501 after all permission checks. */
export type PlannedOperation = readonly [route: `${Method} /${string}`, role: Access, summary: string];

/** A group of operations, declared once in its folder's `group.ts`. */
export interface GroupDefinition {
  /** The folder's name, the tag of its operations, and the first part of their scopes: `<name>:read`, `<name>:write`. */
  readonly name: string;
  /** One sentence for the API documentation */
  readonly summary: string;
  /** Entitlement that all its operations require, including planned ones */
  readonly entitlement?: string;
  /**
   * Groups whose telemetry is shown by views of this group, such as `traces` for a list of services: a token of this group
   * needs no other scope for them. The group of the entitlement is always one. Queries that callers write do not belong
   * here: they need the read scope of each data source.
   */
  readonly reads?: readonly string[];
  /** Resources, with their operations and collections. */
  readonly resources?: readonly RegisteredResource[];
  /** Operations in addition to those of its resources */
  readonly operations?: readonly DeclaredOperation[];
  /** Collections in addition to those of its resources */
  readonly collections?: readonly CollectionDefinition<object>[];
  readonly planned?: readonly PlannedOperation[];
  /** Responses to unknown paths, for clients that expect a specific error format */
  readonly elsewhere?: UnknownPathErrors;
}

/** A group in the form for the server, the documentation and the tests. */
export interface Group
  extends Required<Pick<GroupDefinition, 'name' | 'summary' | 'resources' | 'collections'>>,
    Pick<GroupDefinition, 'elsewhere'> {
  readonly operations: readonly Operation[];
}

/** `GET /api/alerts/rules/{id}` → `get-alerts-rules-id`: the id until the operation is implemented and gets its own. */
const createOperationId = (method: Method, path: string): string => {
  const [, ...words] = path.replace(/^\/api/, '').split(/[^A-Za-z0-9]+/);
  return [method.toLowerCase(), ...words.filter((word) => word !== '')].join('-');
};

const definePlannedOperation = ([route, role, summary]: PlannedOperation): DeclaredOperation => {
  const [method, path] = route.split(' ') as [Method, string];
  return defineOperation({
    method,
    path,
    role,
    summary,
    operationId: createOperationId(method, path),
    built: false,
    response: z.looseObject({}),
    handler: (): Promise<Record<string, never>> =>
      Promise.reject(new ApiError('NOT_IMPLEMENTED', `${route} is not implemented yet`)),
  });
};

const listEntitlements = (operation: DeclaredOperation, { entitlement }: GroupDefinition): readonly string[] => [
  ...new Set([operation.entitlement ?? [], entitlement ?? []].flat()),
];

/** Declares a group. It is served and documented once `index.ts` lists it. */
export const defineGroup = (definition: GroupDefinition): Group => {
  const { name, summary, resources = [] } = definition;
  const declaredOperations = [
    ...resources.flatMap(({ operations }) => operations),
    ...(definition.operations ?? []),
    ...(definition.planned ?? []).map(definePlannedOperation),
  ];
  return {
    name,
    summary,
    resources,
    ...(definition.elsewhere && { elsewhere: definition.elsewhere }),
    // Two resources may be views of the same documents.
    collections: [...new Set([...resources.map(({ collection }) => collection), ...(definition.collections ?? [])])],
    operations: declaredOperations.map((operation) => ({
      ...operation,
      group: name,
      entitlement: operation.entitlement ?? definition.entitlement,
      scope: getRequiredScope({ ...operation, group: name }),
      reads: [...(definition.reads ?? []), ...listEntitlements(operation, definition)],
    })),
  };
};
