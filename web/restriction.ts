/** What the API tells the page of who may call what. */

/** Calls that not everybody may make, and who may. */
export interface Restriction {
  readonly roles: readonly string[];
  /** What the plan must include. */
  readonly entitlement?: string;
  /** `GET /api/logs`. */
  readonly calls: readonly string[];
}
