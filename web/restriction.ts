/** Restrictions of API calls, which the API passes to the page */

/** Permissions that a group of API calls requires */
export interface Restriction {
  readonly roles: readonly string[];
  /** Entitlement that the plan must include */
  readonly entitlement?: string;
  /** Method and path, for example `GET /api/logs` */
  readonly calls: readonly string[];
}
