import KoaRouter from '@koa/router';
import { createFieldError } from '../errors.ts';

/** Finds the declared path of a request. */
export interface Router<Route> {
  /** Adds a route. `path` is in OpenAPI style. A path under `/api/` is also found under `/api/tenants/{tenantId}/`. */
  add(method: string, path: string, route: Route): void;
  /**
   * Returns `undefined` for an unknown path. Literal segments take precedence over parameters, independent of the order
   * of `add`. Only the most literal path counts: `route` is undefined if it does not have the method, and `allowed` has
   * the methods of the path. Throws `VALIDATION_FAILED` for a path that is not percent-encoded UTF-8.
   */
  find(method: string, path: string): RouteMatch<Route> | undefined;
}

interface RouteMatch<Route> {
  readonly route: Route | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly allowed: readonly string[];
}

/** The routes of one path, by method */
interface PathRoutes<Route> {
  readonly path: string;
  readonly routes: Map<string, Route>;
}

/**
 * Creates a router. `@koa/router` matches a request against one path after another, which takes 55 µs with all
 * operations: as long as the rest of a request. Therefore each first segment (after `/api`) has its own router.
 */
export const createRouter = <Route>(): Router<Route> => {
  const entries = new Map<string, PathRoutes<Route>>();
  const segmentRouters = new Map<string, KoaRouter>();

  const getSegmentRouter = (key: string): KoaRouter | undefined => {
    const cachedRouter = segmentRouters.get(key);
    if (cachedRouter !== undefined) return cachedRouter;
    const segmentRoutes = [...entries.values()]
      .filter(({ path }) => toSegmentKey(path) === key)
      .sort(compareLiteralness);
    if (segmentRoutes.length === 0) return undefined;
    const segmentRouter = new KoaRouter({ sensitive: true, strict: true });
    for (const { path } of segmentRoutes)
      segmentRouter.register(path.replaceAll(parameterPattern, ':$1'), ['GET'], () => undefined, { name: path });
    segmentRouters.set(key, segmentRouter);
    return segmentRouter;
  };

  return {
    add(method, path, route) {
      const pathPattern = path.replaceAll(parameterPattern, '{}');
      const entry = entries.get(pathPattern) ?? { path, routes: new Map() };
      if (entry.routes.has(method)) throw new Error(`${method} ${path} is declared twice`);
      entry.routes.set(method, route);
      entries.set(pathPattern, entry);
      segmentRouters.clear();
    },

    find(method, path) {
      const { tenantId, rest } = extractTenant(normalizePath(path));
      const layer = getSegmentRouter(toSegmentKey(rest))?.match(rest, 'GET').path[0];
      const entry = layer && entries.get((layer.name ?? '').replaceAll(parameterPattern, '{}'));
      if (layer === undefined || entry === undefined) return undefined;
      const params = { ...layer.params(rest, layer.captures(rest)), ...(tenantId !== undefined && { tenantId }) };
      const route = entry.routes.get(method);
      return { route, params, allowed: route === undefined ? [...entry.routes.keys()].sort() : [] };
    },
  };
};

const parameterPattern = /\{(\w+)\}/g;

const toSegmentKey = (path: string): string => {
  const [, first = '', second = ''] = path.split('/', 3);
  return first === 'api' ? `api/${second}` : first;
};

const compareLiteralness = <Route>(left: PathRoutes<Route>, right: PathRoutes<Route>): number =>
  toSortKey(left.path) < toSortKey(right.path) ? -1 : 1;

/** Returns a sort key by which a literal segment sorts before a parameter at the same position. */
const toSortKey = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('');

/** `/api/tenants/a/logs` is `/api/logs` of the organization `a`. */
const extractTenant = (path: string): { readonly tenantId?: string; readonly rest: string } => {
  const [, tenantId, rest] = /^\/api\/tenants\/([^/]+)(\/.+)$/.exec(path) ?? [];
  return tenantId === undefined ? { rest: path } : { tenantId: decodeURIComponent(tenantId), rest: `/api${rest}` };
};

/** Normalizes the spelling of a path: `/api/%6Cogs` is `/api/logs`. */
const normalizePath = (path: string): string => {
  if (!path.includes('%')) return path;
  try {
    return path
      .split('/')
      .map((segment) => encodeURIComponent(decodeURIComponent(segment)))
      .join('/');
  } catch {
    throw createFieldError('', `the path ${path} is not percent-encoded UTF-8`);
  }
};
