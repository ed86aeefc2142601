-- fewer-others.sql: so many claims of a name are gone, whose row is locked.

UPDATE {locks} SET others = others - :gone WHERE name = :name
