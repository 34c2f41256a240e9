/**
 * A stored record whose form this version of the Worker does not know: a later version wrote it, and the deployment was
 * rolled back. The record is left alone, and its owner goes on working after the deployment is forward again.
 *
 * A field that a later version merely added is not an unknown form: readers keep fields that they do not know.
 */
export class UnknownForm extends Error {
  /** @param record what the record describes, for the log. */
  constructor(record: string) {
    super(`the stored ${record} has a form that this version does not know`);
    this.name = 'UnknownForm';
  }
}
