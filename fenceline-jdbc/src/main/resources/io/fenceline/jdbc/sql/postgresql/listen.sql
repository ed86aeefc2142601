-- listen.sql (PostgreSQL): hears what tell.sql says, on a connection of its own.

LISTEN {channel}
