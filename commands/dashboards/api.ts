/** The dashboards of an organization, through the API with a token. */
import { z } from 'zod';
import type { DashboardFields as Fields } from '../../subjects/dashboards/document.ts';
import { DashboardFields } from '../../subjects/dashboards/document.ts';
import { RejectedRequestError, readAcceptedJson, sendRequest } from '../api-request.ts';

/** A dashboard as returned by the API. */
export interface StoredDashboard {
  readonly id: string;
  readonly version: number;
  readonly source: string | null;
  readonly document: Fields;
}

const requestTimeoutMs = 60_000;
const pageSize = 500;

const View = z.looseObject({ id: z.string(), version: z.number(), source: z.string().nullable() });
const Page = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), version: z.number(), name: z.string() })),
  nextCursor: z.string().nullable(),
});

const extractDocument = (view: object): Fields =>
  DashboardFields.parse(Object.fromEntries(Object.entries(view).filter(([name]) => name in DashboardFields.shape)));

type QueryParameters = Readonly<Record<string, string | undefined>>;

/** A listed dashboard with its name. */
interface DashboardSummary {
  readonly id: string;
  readonly version: number;
  readonly name: string;
}

export class DashboardsApi {
  readonly #base: string;
  readonly #token: string;

  constructor(base: string, token: string) {
    this.#base = base;
    this.#token = token;
  }

  async #request(
    method: string,
    path: string,
    { parameters = {}, body, version }: { parameters?: QueryParameters; body?: object; version?: number } = {},
  ): Promise<unknown> {
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
    const response = await sendRequest(url, {
      token: this.#token,
      timeoutMs: requestTimeoutMs,
      method,
      body,
      ...(version !== undefined && { headers: { 'if-match': `"${version}"` } }),
    });
    if (response.status === 404 && method === 'GET') return undefined;
    return readAcceptedJson(response, `${method} ${url.pathname}`);
  }

  async find(id: string): Promise<StoredDashboard | undefined> {
    const response = await this.#request('GET', `/api/dashboards/${encodeURIComponent(id)}`);
    if (response === undefined) return undefined;
    const view = View.parse(response);
    return { id: view.id, version: view.version, source: view.source, document: extractDocument(view) };
  }

  /** Lists all dashboards that match the parameters. */
  async list(parameters: QueryParameters): Promise<DashboardSummary[]> {
    const summaries: DashboardSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = Page.parse(
        await this.#request('GET', '/api/dashboards', {
          parameters: { ...parameters, limit: String(pageSize), cursor },
        }),
      );
      summaries.push(...page.items);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return summaries;
  }

  /**
   * Returns why the API would reject the dashboard for reasons that only the API knows: a missing saved query, or the
   * id of another person's private dashboard. Returns undefined if the API would accept it, or if the token does not
   * permit this check.
   */
  async checkImport(id: string, document: Fields): Promise<string | undefined> {
    const parameters = { dryRun: 'true', id, force: 'true' };
    try {
      await this.#request('POST', '/api/dashboards/import', { parameters, body: document });
    } catch (error) {
      if (!(error instanceof RejectedRequestError)) throw error;
      if (error.status === 409) return 'a dashboard that you cannot see has this id: choose another one';
      if (error.status === 400) return error.reason;
      if (error.status !== 403) throw error;
    }
    return undefined;
  }

  async create(id: string, document: Fields, source: string): Promise<void> {
    await this.#request('POST', '/api/dashboards', { parameters: { id, source }, body: document });
  }

  /** Replaces a dashboard; with `shouldTakeOver`, also a dashboard of another source. */
  async replace(
    { id, version }: Pick<StoredDashboard, 'id' | 'version'>,
    document: Fields,
    { source, shouldTakeOver }: { readonly source: string; readonly shouldTakeOver: boolean },
  ): Promise<void> {
    await this.#request('PUT', `/api/dashboards/${encodeURIComponent(id)}`, {
      parameters: { source, force: shouldTakeOver ? 'true' : undefined },
      body: document,
      version,
    });
  }

  async remove({ id, version }: Pick<DashboardSummary, 'id' | 'version'>, source: string): Promise<void> {
    await this.#request('DELETE', `/api/dashboards/${encodeURIComponent(id)}`, { parameters: { source }, version });
  }
}
