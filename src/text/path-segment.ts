/** Puts an id into the path of a URL. */

/**
 * The id as one segment of a path. A URL drops the segments `.` and `..`, even encoded, and would name another route:
 * they are encoded twice, so that the server is asked for an id that nothing has.
 *
 * @example `/v1/runs/${pathSegment('a/b')}` // '/v1/runs/a%2Fb'
 */
export function pathSegment(id: string): string {
  const segment = encodeURIComponent(id.toWellFormed());
  return segment === '.' || segment === '..' ? segment.replaceAll('.', '%252E') : segment;
}
