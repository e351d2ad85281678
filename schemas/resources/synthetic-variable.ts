import { defineCollection } from '../ports/documents.ts';

/** A value that checks can reference by name. The document ID is the name. */
export interface SyntheticVariable {
  readonly description: string;
  readonly isSecret: boolean;
  /** Encrypted if it is a secret. */
  readonly value: string;
  /**
   * Hosts to which a secret may be sent, `shop.example` or `*.shop.example`. Empty for a variable that is not secret.
   */
  readonly hosts: readonly string[];
}

export const syntheticVariables = defineCollection<SyntheticVariable>({ name: 'synthetic-variables' });

/** Maximum number of variables of an organization. */
export const maxVariables = 500;
