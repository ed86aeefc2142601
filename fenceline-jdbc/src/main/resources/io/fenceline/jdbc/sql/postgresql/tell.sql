-- tell.sql (PostgreSQL): tells a claim that waits, by its public id, that its turn has come; on the channel
-- of its process.

SELECT pg_notify(:channel, :id)
