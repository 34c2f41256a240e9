/** Files and uploads in the OpenAPI document. */
import {
  fileDeletedSchema,
  fileFormSchema,
  fileListQuerySchema,
  fileListSchema,
  fileSchema,
  uploadCompletionSchema,
  uploadPartFormSchema,
  uploadPartSchema,
  uploadRequestSchema,
  uploadSchema,
} from '../files.ts';
import type { Route } from './route.ts';

const FORM = 'multipart/form-data';
const COMMON = { scope: 'batch' } as const;
const PROBLEMS = [401, 403, 500, 503] as const;

export const FILE_ROUTES: readonly Route[] = [
  {
    ...COMMON,
    method: 'post',
    path: '/v1/files',
    summary: 'Stores a file of batch requests.',
    request: 'FileForm',
    requestMedia: FORM,
    replies: { 200: { description: 'The file.', schema: 'File' } },
    problems: [400, 413, 415, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'get',
    path: '/v1/files',
    summary: 'Files, the newest first.',
    query: fileListQuerySchema,
    replies: { 200: { description: 'One page.', schema: 'FileList' } },
    problems: [422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'get',
    path: '/v1/files/{id}',
    summary: 'What is known of a file.',
    replies: { 200: { description: 'The file.', schema: 'File' } },
    problems: [404, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'delete',
    path: '/v1/files/{id}',
    summary: 'Removes a file.',
    replies: { 200: { description: 'It is gone.', schema: 'FileDeleted' } },
    problems: [404, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'get',
    path: '/v1/files/{id}/content',
    summary: 'The bytes of a file, or a range of them (header range, one range).',
    replies: {
      200: { description: 'The whole file.', schema: null, media: 'application/octet-stream' },
      206: { description: 'The range.', schema: null, media: 'application/octet-stream' },
    },
    problems: [404, 416, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'post',
    path: '/v1/uploads',
    summary: 'Begins a file that comes in parts.',
    request: 'UploadRequest',
    replies: { 200: { description: 'The upload.', schema: 'Upload' } },
    problems: [400, 413, 415, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'post',
    path: '/v1/uploads/{id}/parts',
    summary: 'Adds a part; parts may come in any order, and side by side.',
    request: 'UploadPartForm',
    requestMedia: FORM,
    replies: { 200: { description: 'The part.', schema: 'UploadPart' } },
    problems: [400, 404, 409, 413, 415, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'post',
    path: '/v1/uploads/{id}/complete',
    summary: 'Makes the file of the parts. The same completion again gives the same file.',
    request: 'UploadCompletion',
    replies: { 200: { description: 'The upload with its file.', schema: 'Upload' } },
    problems: [400, 404, 409, 413, 415, 422, ...PROBLEMS],
  },
  {
    ...COMMON,
    method: 'post',
    path: '/v1/uploads/{id}/cancel',
    summary: 'Ends an upload and removes its parts.',
    replies: { 200: { description: 'The upload.', schema: 'Upload' } },
    problems: [404, 409, ...PROBLEMS],
  },
];

export const FILE_REQUESTS = {
  FileForm: fileFormSchema,
  UploadRequest: uploadRequestSchema,
  UploadPartForm: uploadPartFormSchema,
  UploadCompletion: uploadCompletionSchema,
};

export const FILE_REPLIES = {
  File: fileSchema,
  FileList: fileListSchema,
  FileDeleted: fileDeletedSchema,
  Upload: uploadSchema,
  UploadPart: uploadPartSchema,
};
