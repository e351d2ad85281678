/** Restrictions of API calls, from the API to the page */

/** Restricted calls, with the required permissions */
export interface Restriction {
  readonly roles: readonly string[];
  /** Entitlement that the plan must include */
  readonly entitlement?: string;
  /** `GET /api/logs`. */
  readonly calls: readonly string[];
}
