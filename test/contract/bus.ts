/** The bus contract, as promised in `schemas/ports/bus.ts`. Every adapter runs this suite unchanged. */
import { assignmentContract } from './bus-assignment.ts';
import { consumingContract } from './bus-consuming.ts';
import { followingContract } from './bus-following.ts';
import { takeoverContract } from './bus-group-migration.ts';
import type { BusContract } from './bus-harness.ts';
import { publishingContract } from './bus-publishing.ts';
import { redeliveryContract } from './bus-redelivery.ts';

/** Declares the tests of the contract for one adapter. */
export const busContract = (contract: BusContract): void => {
  publishingContract(contract);
  consumingContract(contract);
  redeliveryContract(contract);
  assignmentContract(contract);
  followingContract(contract);
  takeoverContract(contract);
};
