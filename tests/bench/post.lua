wrk.method = "POST"
wrk.body = '{"templateID":"base","timeout":300,"metadata":{"purpose":"' .. string.rep("x", 1000) .. '"}}'
wrk.headers["Content-Type"] = "application/json"
