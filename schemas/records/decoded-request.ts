/** A decoded message. Each reader can iterate over its items. */
export interface DecodedMessage<Item> {
  /** Number of items. */
  readonly count: number;
  /**
   * Returns the item with an ordinal, in the row order of sinks. It may be a shared view (`RecordView`), valid until
   * the next call.
   */
  getItem(ordinal: number): Item;
}
