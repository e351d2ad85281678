import { z } from 'zod';
import { ApiError } from '../kernel/errors.ts';
import { defineOperation, type Operation } from '../kernel/operation.ts';
import { unbuiltRows } from './unbuilt-rows.ts';

/** The five SSO routes are served and not published. */
const isHidden = (path: string): boolean => path.startsWith('/auth/sso/');

/** `GET /api/alerts/rules/{id}` → `get-alerts-rules-id`: stable, and free to be any name once it is built. */
const operationIdOf = (method: string, path: string): string =>
  `${method.toLowerCase()}-${path
    .replace(/^\/api\//, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')}`;

export const unbuilt: readonly Operation[] = Object.entries(unbuiltRows).flatMap(([group, rows]) =>
  rows.map(([method, path, role, entitlement, summary]) =>
    defineOperation({
      method,
      path,
      operationId: operationIdOf(method, path),
      summary,
      group,
      role,
      entitlement: entitlement === '' ? undefined : entitlement,
      response: z.looseObject({}),
      hidden: isHidden(path),
      built: false,
      handler: (): Promise<Record<string, never>> =>
        Promise.reject(new ApiError('NOT_IMPLEMENTED', `${method} ${path} is declared and not built yet`)),
    }),
  ),
);
