DELETE q FROM t q JOIN u ON q.a = u.a
