/* status: the one table from outcomes to HTTP statuses (docs/http.md). Pure. */
#ifndef HOTBUNK_API_STATUS_H
#define HOTBUNK_API_STATUS_H

/* Of an error code of a job, a worker or a route. Codes that workers invent give 502. */
int api_status_of(const char *code);

/* The code of a backend's errno (backend.h); `otherwise` for one without a meaning of its own. */
const char *api_code_of_errno(int negative_errno, const char *otherwise);

/* The code of an error that has only a status: the server's and the router's own ones. */
const char *api_code_of_status(int status);

#endif
