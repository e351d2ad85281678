/** A message that was opened: its items can be walked by each that reads it. */
export interface Opened<Item> {
  /** How many items it has. */
  readonly count: number;
  /**
   * The item of an ordinal, in the order in which sinks number its rows. It may be one object that is moved (`RecordView`): it is
   * valid until another one is asked for.
   */
  at(ordinal: number): Item;
}
